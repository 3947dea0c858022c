//! What the compiler says to an author who made a mistake, on the pinned toolchain.

#[test]
fn mistakes_are_told_in_the_authors_terms() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
