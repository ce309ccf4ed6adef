FROM docker.io/library/debian:bookworm-slim
COPY nats-server /usr/local/bin/nats-server
ENTRYPOINT ["nats-server"]
