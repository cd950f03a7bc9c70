use super::*;
use std::io::Write;

/// Independent reference: bit by bit.
fn naive_record(bytes: &[u8], index: u64, bits: u64) -> Record {
    let mut record = vec![0; bits.div_ceil(8) as usize];
    for b in 0..bits {
        let at = index * bits + b;
        let bit = bytes[(at / 8) as usize] >> (at % 8) & 1;
        record[(b / 8) as usize] |= bit << (b % 8);
    }
    record
}

#[test]
fn all_sources_agree_with_bit_by_bit_reading() {
    for (records, bits) in [(1, 1), (1000, 1), (77, 7), (33, 13), (5, 2048), (3, 800_001), (10, 64)] {
        let shape = Shape::new(records, bits).unwrap();
        let seeded = Database::seeded([3; 16], shape);
        let mut bytes = vec![0; shape.database_bytes() as usize];
        seeded.read_bytes(0, &mut bytes).unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        file.write_all(&[0xff; 3]).unwrap();
        let path = file.path().display();
        let plain = Database::open(&format!("file:{path}"), shape).unwrap();
        let mapped = Database::open(&format!("mmap:{path}"), shape).unwrap();
        for index in [0, records / 2, records - 1] {
            let expected = naive_record(&bytes, index, bits);
            for database in [&seeded, &plain, &mapped] {
                assert_eq!(database.record(index).unwrap(), expected, "{records} x {bits}, record {index}");
            }
        }
        let mut tail = [0xaa; 5];
        plain.read_bytes(shape.database_bytes() - 1, &mut tail).unwrap();
        assert_eq!(tail, [bytes[bytes.len() - 1], 0, 0, 0, 0]);
    }
}

#[test]
fn a_file_holds_whole_records_or_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let held = |length: u64, bits: u64| {
        file.as_file().set_len(length).unwrap();
        records_in_file(file.path(), bits).map_err(|e| e.to_string())
    };
    for (length, bits, records) in [(960, 384, 20), (1000, 8, 1000), (1000, 7, 1142), (1000, 1, 8000), (2, 13, 1)] {
        assert_eq!(held(length, bits), Ok(records), "{length} bytes, {bits} bits");
    }
    let name = file.path().display().to_string();
    for (length, bits, parts) in [
        (1000, 384, ["1000 bytes", "20 x 384 bits", "40 bytes remain", "--records 20"]),
        (3, 13, ["3 bytes", "1 x 13 bits", "11 bits remain", "--records 1"]),
        (3, 48, ["3 bytes", "0 x 48 bits", "3 bytes remain", "--record-bits"]),
        (0, 8, ["0 bytes", "no record", "Give a file", "file"]),
        (8, 0, ["record bits = 0", "--record-bits", "at least one bit", "1 or more"]),
    ] {
        let said = held(length, bits).unwrap_err();
        assert!(parts.iter().all(|part| said.contains(part)) && (bits == 0 || said.contains(&name)), "{said}");
    }
}

#[test]
fn short_files_bad_sources_and_bad_changes_are_refused() {
    let shape = Shape::new(100, 13).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&[0; 162]).unwrap();
    let message = Database::open(&format!("file:{}", file.path().display()), shape).err().unwrap().to_string();
    assert!(message.contains("162 bytes") && message.contains("need 163"), "{message}");
    for bad in
        ["seeded:xyz", "seeded:+5", "seeded:", "constant:+f", "seeded", "tape:1", "file:no such file", "constant:1234"]
    {
        assert!(Database::open(bad, shape).is_err(), "{bad}");
    }
    let folder = tempfile::tempdir().unwrap();
    let message = Database::open(&format!("mmap:{}", folder.path().display()), shape).err().unwrap().to_string();
    assert!(message.contains("not a regular file but a folder"), "{message}");
    let mut database = Database::constant(0xff, shape);
    assert!(database.change(100, vec![0, 0]).is_err());
    assert!(database.change(0, vec![0]).is_err());
    assert!(database.change(0, vec![0, 0x20]).is_err());
    assert!(database.change(0, vec![1, 0x1f]).is_ok());
    assert_eq!(database.record(0).unwrap(), [1, 0x1f]);
    assert_eq!(database.record(1).unwrap(), [0xff, 0x1f]);
}
