#[test]
fn a_name_without_a_number_has_its_family() {
    let guest = "cpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n";
    assert_eq!(super::processor(guest), "AMD EPYC (family 25, model 17)");
    assert_eq!(super::processor(&guest.replace("EPYC", "EPYC 9654 ")), "AMD EPYC 9654");
    assert_eq!(super::processor("model name\t: POWER"), "POWER");
    assert_eq!(super::processor("processor\t: 0\n"), std::env::consts::ARCH);
}

#[test]
fn the_facts_are_plausible() {
    let machine = super::facts();
    assert!(!machine.cpu.is_empty() && machine.cores >= 1 && !machine.os.is_empty());
    if cfg!(target_os = "linux") {
        assert!(machine.memory_bytes > machine.free_memory_bytes && machine.free_memory_bytes > 0);
    }
}
