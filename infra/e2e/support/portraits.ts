/** The cameras of the gallery of the web application, which draw a person, for pages of a complete stack. */
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const SOURCE = fileURLToPath(new URL('../../../client/web/test/gallery/fake-media.ts', import.meta.url));

interface PageScope {
  readonly parleyPortraits: {
    fakeCamera(number: number, size: { readonly width: number; readonly height: number }): MediaStream;
  };
}

/** A script that a page runs before `holdPortrait`. */
export async function bundlePortraits(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: { write: false, lib: { entry: SOURCE, formats: ['iife'], name: 'parleyPortraits' } },
  });
  const [output] = Array.isArray(built) ? built : [built];
  if (output === undefined || !('output' in output)) throw new Error('Vite built no script');
  // The bundle declares a variable, which the script of another file does not see in every page.
  return `${output.output[0].code}\nglobalThis.parleyPortraits = parleyPortraits;`;
}

/** Runs in the page, before its own scripts: replaces its camera by a portrait. The microphone stays that of the browser. */
export function holdPortrait({
  number,
  size,
}: {
  readonly number: number;
  readonly size: { readonly width: number; readonly height: number };
}): void {
  const devices = globalThis.navigator.mediaDevices as MediaDevices | undefined;
  if (!devices) return;
  const real = devices.getUserMedia.bind(devices);
  devices.getUserMedia = async (asked = {}) => {
    const stream = asked.audio ? await real({ audio: asked.audio }) : new MediaStream();
    if (!asked.video) return stream;
    const portrait = (globalThis as unknown as PageScope).parleyPortraits.fakeCamera(number, size);
    for (const track of portrait.getVideoTracks()) stream.addTrack(track);
    return stream;
  };
}
