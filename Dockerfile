# syntax=docker/dockerfile:1
# Builds an image of a scheduler:
#
#     docker build --build-arg PROFILES=edge -t schedc-edge:0.1.0 .
#
# PROFILES are names of files in profiles/, separated by commas. Each profile schedules the pods of its scheduler-name. Profiles with
# extenders also need FEATURES=profiles,run,dynamic-resources,extenders. Profiles without DynamicResources do not need
# `dynamic-resources`; the program is the same without it, and the build shorter.

FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
ARG PROFILES=default
ARG FEATURES=profiles,run,dynamic-resources
# Builds of other profiles reuse the compiled dependencies. The options of rustc are those of `schedc build`.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    SCHEDC_PROFILES=$PROFILES cargo build --profile dist --locked --no-default-features --features $FEATURES --bin schedc \
        --target host-tuple --config 'build.rustflags=["-Cforce-unwind-tables=no","-Crelocation-model=static"]' \
    && cp "target/$(rustc --print host-tuple)/dist/schedc" /schedc

# The base has libc, libgcc and certificate authorities, but no shell. The pod sets the user, as for kube-scheduler.
FROM gcr.io/distroless/cc-debian12
LABEL org.opencontainers.image.title="schedc" \
    org.opencontainers.image.description="A Kubernetes scheduler, compiled from profiles" \
    org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /src/LICENSE /LICENSE
COPY --from=build /schedc /schedc
ENTRYPOINT ["/schedc"]
CMD ["run"]
