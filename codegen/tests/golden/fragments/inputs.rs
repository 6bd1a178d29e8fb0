//! Arguments, names, state and columns.

use expect_test::expect;

use super::{PROFILE, check};

#[test]
fn arguments_are_a_tree_with_locations() {
    check(
        PROFILE,
        "pub const GPU_SHARE",
        &expect![[r#"
        pub const GPU_SHARE: <GpuShare as Plugin>::Args = <GpuShare as Plugin>::Args::decode(
            &at(
                6,
                1,
                Value::Table(
                    &[
                        (
                            "slices",
                            at(
                                7,
                                10,
                                Value::List(
                                    &[
                                        at(7, 11, Value::Int(-1)),
                                        at(
                                            7,
                                            15,
                                            Value::Table(&[("deep", at(7, 24, Value::Bool(true)))]),
                                        ),
                                    ],
                                ),
                            ),
                        ),
                    ],
                ),
            ),
        );"#]],
    );
    check(
        PROFILE,
        "const fn at(line",
        &expect![[r#"
        const fn at(line: u32, column: u32, value: Value) -> Node {
            Node {
                file: "profiles/mine.toml",
                line,
                column,
                value,
            }
        }"#]],
    );
}

#[test]
fn types_with_names_of_the_framework_are_renamed() {
    check(PROFILE, "use ::my_plugins::{", &expect!["use ::my_plugins::{Gangs, Gpus};"]);
}

#[test]
fn the_state_has_the_columns_and_indexes_of_all_plugins() {
    check(
        PROFILE,
        "pub struct State",
        &expect![[r#"
        pub struct State {
            /// Column `node-ports`.
            pub node_ports: Vec<NodePortsInUse>,
            /// Column `gpus`.
            pub gpus: Vec<Gpus>,
            /// Index `gangs`.
            pub gangs: Gangs,
            /// Index `image-nodes`.
            pub image_nodes: ImageNodes,
        }"#]],
    );
    check(
        PROFILE,
        "pub struct Hypothetical",
        &expect![[r#"
            pub struct Hypothetical<'a> {
                /// The whole node.
                pub info: NodeInfo,
                /// Column `node-ports`.
                pub node_ports: HypotheticalColumn<'a, NodePortsInUse>,
                /// Column `gpus`.
                pub gpus: HypotheticalColumn<'a, Gpus>,
            }"#]],
    );
    check(
        PROFILE,
        "fn hypothetical_add",
        &expect![[r#"
            fn hypothetical_add(node: &mut Hypothetical<'_>, pod: &Arc<model::Pod>) {
                node.node_ports.add_pod(pod);
                node.gpus.add_pod(pod);
                node.info.add_pod(Arc::clone(pod));
            }"#]],
    );
}

#[test]
fn node_index_and_whole_nodes_precede_other_columns() {
    check(
        PROFILE,
        "pub struct Columns",
        &expect![[r#"
        pub struct Columns<'a> {
            /// The index of the first node.
            pub first: NodeIndex,
            /// Whole nodes.
            pub infos: &'a [NodeInfo],
            /// Column `node-ports`.
            pub node_ports: &'a [NodePortsInUse],
            /// Column `gpus`.
            pub gpus: &'a [Gpus],
        }"#]],
    );
    check(
        PROFILE,
        "fn hypothetical_columns",
        &expect![[r#"
            fn hypothetical_columns<'a>(
                node: &'a Hypothetical<'_>,
                index: NodeIndex,
            ) -> Columns<'a> {
                Columns {
                    first: index,
                    infos: std::slice::from_ref(&node.info),
                    node_ports: std::slice::from_ref(node.node_ports.get()),
                    gpus: std::slice::from_ref(node.gpus.get()),
                }
            }"#]],
    );
    check(
        PROFILE,
        "fn columns<'a>",
        &expect![[r#"
        fn columns<'a>(state: &'a State, base: &'a Base) -> Columns<'a> {
            Columns {
                first: NodeIndex(0),
                infos: base.infos(),
                node_ports: &state.node_ports,
                gpus: &state.gpus,
            }
        }"#]],
    );
}

#[test]
fn a_name_that_is_only_declared_is_not_imported() {
    let profile = "[plugins]\nmulti-point = [\"PrioritySort\", \"DefaultBinder\"]\n";
    check(profile, "use ::schedc_core::{", &expect!["use ::schedc_core::{incremental, model};"]);
}
