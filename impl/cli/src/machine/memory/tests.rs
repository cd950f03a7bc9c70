use super::*;

#[test]
fn values_are_read_by_their_whole_key() {
    let text = "MemTotal:       24 kB\nMem:  3 kB\nVmHWM:\t  7 kB\n";
    assert_eq!(kib(text, "MemTotal"), Some(24 << 10));
    assert_eq!(kib(text, "Mem"), Some(3 << 10));
    assert_eq!(kib(text, "VmHWM"), Some(7 << 10));
    assert_eq!(kib(text, "VmRSS"), None);
}

#[test]
fn the_tightest_control_group_counts() {
    let root = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("a/b/memory.max", "max\n");
    put("a/b/memory.current", "10\n");
    put("a/memory.max", "1000\n");
    put("a/memory.current", "300\n");
    put("a/memory.stat", "anon 100\ninactive_file 50\n");
    assert_eq!(group_free(root.path(), "0::/a/b\n"), Some(750));
    assert_eq!(group_free(root.path(), "0::/not/mounted\n"), None);
    put("memory/job/memory.limit_in_bytes", "500");
    put("memory/job/memory.usage_in_bytes", "700");
    assert_eq!(group_free(root.path(), "3:cpu:/job\n5:memory:/job\n0::/a/b\n"), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_large_table_is_seen() {
    let mut watch = Watch::start(1);
    let table = vec![1u8; 64 << 20];
    watch.sample();
    assert_eq!(table.iter().map(|&b| u64::from(b)).sum::<u64>(), 64 << 20);
    let seen = watch.finish();
    assert!(seen.peak_bytes >= 64 << 20 && seen.peak_anonymous_bytes >= 64 << 20);
    assert_eq!(seen.online_peak_bytes, None);
}
