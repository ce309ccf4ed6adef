/** The loudness of a microphone, 0 to 1, about ten times a second. */

const EVERY_MS = 100;
/** RMS of quiet speech is near 0.02, of loud speech near 0.3; the square root spreads this range over the meter. */
const SCALE = 1.8;

/** The returned function stops the meter and frees the audio graph. */
export function watchLevel(track: MediaStreamTrack, listener: (level: number) => void): () => void {
  if (typeof AudioContext === 'undefined') return () => {};
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 1024;
  const source = context.createMediaStreamSource(new MediaStream([track]));
  source.connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const timer = setInterval(() => {
    // Chrome starts the context suspended until the first click on the page. Rejected where it is closed before that.
    if (context.state === 'suspended') context.resume().catch(() => undefined);
    analyser.getFloatTimeDomainData(samples);
    let sum = 0;
    for (const sample of samples) sum += sample * sample;
    listener(Math.min(1, Math.sqrt(Math.sqrt(sum / samples.length)) * SCALE * 0.75));
  }, EVERY_MS);
  return () => {
    clearInterval(timer);
    source.disconnect();
    void context.close();
  };
}
