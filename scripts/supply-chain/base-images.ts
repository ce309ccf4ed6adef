/** The images that Parley's own are built on: each is named once in its Dockerfile, as the default of an ARG. */
import { globSync } from 'node:fs';

/** Those that users build. What the Kubernetes lab makes is built on what it made itself. */
export const dockerfiles = (): string[] => globSync(['services/*/Dockerfile', 'client/*/Dockerfile']).sort();

export interface BaseImage {
  /** Name of the ARG. */
  readonly argument: string;
  /** With its tag. */
  readonly image: string;
  readonly digest: string | undefined;
}

const ARGUMENT = /^ARG (\w+_IMAGE)=([^\s@]+)(?:@(\S+))?$/gm;

export function baseImagesOf(dockerfile: string): BaseImage[] {
  return [...dockerfile.matchAll(ARGUMENT)].map(([, argument = '', image = '', digest]) => ({
    argument,
    image,
    digest,
  }));
}

/** The Dockerfile with this digest for the image. */
export function pinned(dockerfile: string, image: string, digest: string): string {
  return dockerfile.replaceAll(ARGUMENT, (line, argument: string, named: string) =>
    named === image ? `ARG ${argument}=${image}@${digest}` : line,
  );
}

/** A sentence for each FROM whose image cannot be pinned, and each base that has no exact name. */
export function faultsOf(dockerfile: string): string[] {
  const bases = baseImagesOf(dockerfile);
  const stages = new Set(['scratch']);
  const faults = bases.flatMap(({ image, digest }) => [
    ...(/^[\w.-]+\.[a-z]+\/.+:[\w.-]+$/.test(image) && !image.endsWith(':latest')
      ? []
      : [`${image} is not a registry, a name and a tag`]),
    ...(digest === undefined || /^sha256:[0-9a-f]{64}$/.test(digest) ? [] : [`${digest} is no digest`]),
  ]);
  const choices = new Map(
    [...dockerfile.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  for (const [, from = '', stage] of dockerfile.matchAll(/^FROM (?:--\S+ )*(\S+)(?: AS (\S+))?$/gim)) {
    const argument = /^\$\{(\w+)\}$/.exec(from)?.[1] ?? '';
    const isBase = bases.some((base) => base.argument === argument);
    // Which of the earlier stages is taken is a build argument.
    const isStage = stages.has(choices.get(argument) ?? from);
    if (!isBase && !isStage && !/@sha256:[0-9a-f]{64}$/.test(from))
      faults.push(`FROM ${from} is neither a stage, nor an ARG that ends with _IMAGE, nor a digest`);
    if (stage !== undefined) stages.add(stage);
  }
  return faults;
}
