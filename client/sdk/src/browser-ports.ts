/** The ports of a browser, all taken from `globalThis`, so that a page and a test use the same code. */
import { webCompression } from './net/compression.ts';
import type { PageMedia } from './sfu/media-ports.ts';
import type {
  Clock,
  LevelMeter,
  Network,
  Ports,
  Random,
  RelayedMedia,
  WireHandlers,
  WireSocket,
} from './ports.ts';

/** Whether this browser supports calls. A page checks this first, instead of failing later. */
export function canCall(): boolean {
  return typeof globalThis.RTCPeerConnection === 'function' && typeof globalThis.WebSocket === 'function';
}

/** Whether this browser supports pages. Only secure contexts do. */
export function canHoldPages(): boolean {
  return canCall() && 'subtle' in crypto;
}

/** Without `page` every room stays in the mesh. */
export function browserPorts(page: PageMedia | null = null): Ports {
  return {
    // A worker has one, and Node.js has not.
    origin: (globalThis.location as Location | undefined)?.origin,
    fetch: async (url, init) => globalThis.fetch(url, init),
    openSocket,
    createConnection: (configuration) => new RTCPeerConnection(configuration),
    certificates: canCall() ? ownCertificates() : undefined,
    createStream: () => new MediaStream(),
    clock: browserClock,
    random: browserRandom,
    network: browserNetwork,
    subtle: crypto.subtle,
    compression: webCompression(),
    relayedMedia: canRelay() && page !== null ? () => loadRelayedMedia(page) : null,
    measureLevel: typeof AudioContext === 'function' ? measureLevel : null,
  };
}

/** Made in milliseconds, long before a participant is met. */
function ownCertificates(): () => RTCCertificate[] {
  const made: RTCCertificate[] = [];
  const keys = { name: 'ECDSA', namedCurve: 'P-256' } as AlgorithmIdentifier;
  RTCPeerConnection.generateCertificate(keys).then(
    (certificate) => made.push(certificate),
    // Each connection has its own then.
    () => undefined,
  );
  return () => [...made];
}

/** Relays need a secure context. */
function canRelay(): boolean {
  return ['VideoEncoder', 'VideoDecoder', 'AudioEncoder', 'AudioDecoder'].every((name) => name in globalThis);
}

async function loadRelayedMedia(page: PageMedia): Promise<RelayedMedia> {
  const [{ MoqRoom }, { browserMedia }] = await Promise.all([
    import('./sfu/relayed-room.ts'),
    import('./sfu/browser-media.ts'),
  ]);
  const surroundings = { clock: browserClock, random: browserRandom, media: browserMedia(page) };
  return { enter: (local, options) => new MoqRoom(local, { ...options, ...surroundings }) };
}

function openSocket(url: string, handlers: WireHandlers): WireSocket {
  const socket = new WebSocket(url);
  socket.binaryType = 'arraybuffer';
  socket.addEventListener('open', () => handlers.onOpen());
  socket.addEventListener('close', (event) => handlers.onClose(event.code));
  socket.addEventListener('message', (event: MessageEvent<unknown>) => {
    if (typeof event.data === 'string') handlers.onText(event.data);
    else if (event.data instanceof ArrayBuffer) handlers.onBinary(new Uint8Array(event.data));
  });
  return {
    send: (data) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(data);
    },
    buffered: () => socket.bufferedAmount,
    close: (code) => socket.close(code),
  };
}

export const browserClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after: (ms, task) => {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

export const browserRandom: Random = {
  fraction: () => Math.random(),
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
};

const browserNetwork: Network = {
  online: () => navigator.onLine,
  subscribe: (listener) => {
    globalThis.addEventListener('online', listener);
    globalThis.addEventListener('offline', listener);
    return () => {
      globalThis.removeEventListener('online', listener);
      globalThis.removeEventListener('offline', listener);
    };
  },
};

// One context for all meters: browsers allow only a few.
let audio: AudioContext | undefined;

/** Loudness of a local or remote audio track, also for the preview of a microphone. It reads 0 before the first user gesture. */
export function measureLevel(track: MediaStreamTrack): LevelMeter {
  audio ??= new AudioContext();
  if (audio.state === 'suspended') audio.resume().catch(() => undefined);
  const source = audio.createMediaStreamSource(new MediaStream([track]));
  const analyser = audio.createAnalyser();
  // At 48 kHz the last 8192 samples are about a fifth of a second.
  analyser.fftSize = 8192;
  source.connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  return {
    read: () => {
      analyser.getFloatTimeDomainData(samples);
      let sum = 0;
      for (const sample of samples) sum += sample * sample;
      return Math.min(1, Math.sqrt(sum / samples.length));
    },
    close: () => source.disconnect(),
  };
}
