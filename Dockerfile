# syntax=docker/dockerfile:1
# A scheduler as an image:
#
#     docker build --build-arg PROFILES=edge -t schedc-edge:0.1.0 .
#
# PROFILES are names of files in profiles/, separated by commas. What each says holds for the pods of its scheduler-name. Profiles with
# extenders take FEATURES=profiles,run,extenders, too.

FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
ARG PROFILES=default
ARG FEATURES=profiles,run
# What was compiled for one profile is of use to the next.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    SCHEDC_PROFILES=$PROFILES cargo build --profile dist --locked --no-default-features --features $FEATURES --bin schedc \
    && cp target/dist/schedc /schedc

# libc, libgcc and the authorities that browsers trust; no shell. Who it runs as is for the pod to say, as with kube-scheduler.
FROM gcr.io/distroless/cc-debian12
LABEL org.opencontainers.image.title="schedc" \
    org.opencontainers.image.description="A Kubernetes scheduler, compiled from profiles" \
    org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /src/LICENSE /LICENSE
COPY --from=build /schedc /schedc
ENTRYPOINT ["/schedc"]
CMD ["run"]
