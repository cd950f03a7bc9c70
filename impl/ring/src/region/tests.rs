use super::*;

#[test]
fn a_block_on_whole_pages_is_as_long_as_asked_and_zeroed() {
    for len in [0, 1, WHOLE_FROM_BYTES as usize, HUGE_PAGE_BYTES as usize + 1] {
        let block = Region::zeroed_on_whole_pages(len).unwrap();
        assert_eq!(block.bytes().len(), len);
        assert!(block.bytes().iter().all(|byte| *byte == 0) && block.bytes().as_ptr().addr().is_multiple_of(64));
    }
    let memory =
        [0, WHOLE_FROM_BYTES - 1, WHOLE_FROM_BYTES, HUGE_PAGE_BYTES, HUGE_PAGE_BYTES + 1].map(whole_pages_bytes);
    assert_eq!(memory, [0, WHOLE_FROM_BYTES - 1, HUGE_PAGE_BYTES, HUGE_PAGE_BYTES, 2 * HUGE_PAGE_BYTES]);
}

#[test]
fn blocks_among_others_are_zeroed_aligned_and_apart() {
    let lens = [1, PAGE_BYTES, 3 * PAGE_BYTES + 1, SHARED_BELOW - 1, SHARED_BELOW];
    let mut blocks: Vec<Region> = lens.map(|len| Region::zeroed_among_others(len).unwrap()).into();
    for (i, block) in (1..).zip(&mut blocks) {
        assert!(block.bytes().iter().all(|byte| *byte == 0) && block.bytes().as_ptr().addr().is_multiple_of(64));
        block.bytes_mut().fill(i);
    }
    drop(blocks.remove(1));
    blocks.insert(1, Region::zeroed_among_others(PAGE_BYTES).unwrap());
    assert!(blocks[1].bytes().iter().all(|byte| *byte == 0));
    for (i, block) in (1..).zip(&blocks).filter(|(i, _)| *i != 2) {
        assert!(block.bytes().iter().all(|byte| *byte == i), "block {i} holds another's bytes");
    }
}
