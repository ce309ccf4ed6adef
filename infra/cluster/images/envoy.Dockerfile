FROM docker.io/library/debian:bookworm-slim
COPY envoy /usr/local/bin/envoy
ENTRYPOINT ["envoy"]
