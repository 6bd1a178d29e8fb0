//! Score and NormalizeScore.

use expect_test::expect;

use super::{PROFILE, check};

#[test]
fn scores_without_normalization_are_summed_directly() {
    check(
        PROFILE,
        "fn score<",
        &expect![[r#"
            fn score<const IDLE: u8>(
                pod: &Pod,
                _score: &Score,
                columns: Columns<'_>,
                index: usize,
                raw: &mut Raw,
                extents: &mut Extents,
            ) -> Result<(), ScoreFailure> {
                let node = &mut raw.nodes[index];
                let mut base: i64 = 0;
                let value = <GpuShare as ScorePlugin>::score(
                        &args::GPU_SHARE,
                        &pod.gpu_share,
                        &Default::default(),
                        (
                            &columns.gpus[index],
                            &columns.infos[index],
                            <Position as ColumnSet>::row(columns.first, index),
                        ),
                    )
                    .map_err(|error| ScoreFailure {
                        plugin: "GPUShare",
                        error,
                    })?;
                base = base
                    .wrapping_add(
                        extents.range.check(value).wrapping_mul(weight::GPU_SHARE),
                    );
                node.base = base;
                Ok(())
            }"#]],
    );
    check(
        PROFILE,
        "fn total<",
        &expect![[r#"
            fn total<const IDLE: u8>(
                _pod: &Pod,
                _score: &Score,
                raw: &Raw,
                _extents: &Extents,
                index: usize,
                _range: &mut ScoreRange,
            ) -> i64 {
                let node = &raw.nodes[index];
                node.base
            }"#]],
    );
}
