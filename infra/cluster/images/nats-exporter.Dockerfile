ARG NODE_IMAGE
FROM ${NODE_IMAGE}
COPY nats-exporter.ts /nats-exporter.ts
ENTRYPOINT ["node", "/nats-exporter.ts"]
