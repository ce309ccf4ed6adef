/** A microphone that speaks without pause, so that each silence at the other end is one of the path between. */

/** From the beginning of a syllable to that of the next, in ms: a silence that is shorter may be a pause between two. */
export const SYLLABLE_MS = 120;

/**
 * Runs in the page, before its own scripts: replaces its microphone. Each syllable is 80 ms of a tone; the gaps between them are what a voice gate
 * measures noise in, as with people.
 */
export function speakWithoutPause(syllableMs: number): void {
  const devices = globalThis.navigator.mediaDevices as MediaDevices | undefined;
  if (!devices) return;
  const real = devices.getUserMedia.bind(devices);
  const microphone = (): MediaStreamTrack[] => {
    const context = new AudioContext();
    const samples = context.createBuffer(1, (context.sampleRate * syllableMs) / 1000, context.sampleRate);
    const toneHz = 400;
    for (let at = 0; at < (samples.length * 2) / 3; at += 1)
      samples.getChannelData(0)[at] = 0.5 * Math.sin((2 * Math.PI * toneHz * at) / context.sampleRate);
    const [source, destination] = [context.createBufferSource(), context.createMediaStreamDestination()];
    source.buffer = samples;
    source.loop = true;
    source.connect(destination);
    source.start();
    return destination.stream.getAudioTracks();
  };
  devices.getUserMedia = async ({ audio, video } = {}) => {
    const pictures = video ? (await real({ video })).getTracks() : [];
    return new MediaStream([...pictures, ...(audio ? microphone() : [])]);
  };
}
