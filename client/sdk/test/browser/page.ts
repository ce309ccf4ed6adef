/** The code of the test page: the SDK, and handles through which the test controls it. */
import { browserPorts } from '../../src/browser-ports.ts';
import type { Call, CallOptions, CallSnapshot } from '../../src/call.ts';
import { joinCall } from '../../src/join-call.ts';
import type { WireSocket } from '../../src/ports.ts';

declare global {
  var stage: ReturnType<typeof createStage>;
}

function createStage() {
  const ports = browserPorts();
  const connections: RTCPeerConnection[] = [];
  const sockets: WireSocket[] = [];
  let call: Call | undefined;
  let swallow = 0;
  let collisions = 0;
  const dataSignals: string[] = [];
  const data: (readonly [string, string])[] = [];
  const violations: string[] = [];
  document.addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective));

  const current = (): Call => {
    if (call === undefined) throw new Error('not joined');
    return call;
  };
  return {
    connections,
    violations,
    /** The next `count` outgoing directed messages are lost. */
    swallowDirected: (count: number): void => {
      swallow = count;
    },
    dropSocket: (): void => sockets.at(-1)?.close(4000),
    async join(options: Pick<CallOptions, 'api' | 'room' | 'name'>): Promise<void> {
      const local = await navigator.mediaDevices.getUserMedia({
        audio: true,
        video: { width: 320, height: 180, frameRate: 15 },
      });
      const memory = {
        read: () => sessionStorage.getItem(options.room),
        write: (value: string | null) =>
          value === null
            ? sessionStorage.removeItem(options.room)
            : sessionStorage.setItem(options.room, value),
      };
      const [microphone = null] = local.getAudioTracks();
      const [camera = null] = local.getVideoTracks();
      call = joinCall(
        { ...options, microphone, camera, memory },
        {
          ...ports,
          createConnection: (configuration) => {
            const connection = ports.createConnection(configuration);
            connections.push(connection);
            const take = connection.setRemoteDescription.bind(connection);
            connection.setRemoteDescription = async (
              description: RTCSessionDescriptionInit,
            ): Promise<void> => {
              const isOffering = connection.signalingState === 'have-local-offer';
              if (description.type === 'offer' && isOffering) collisions += 1;
              return take(description);
            };
            return connection;
          },
          openSocket: (url, handlers) => {
            const socket = ports.openSocket(url, handlers);
            sockets.push(socket);
            return {
              ...socket,
              send: (data) => {
                const directed = typeof data === 'string' ? data.startsWith('>') : data[0] === 0x3e;
                if (directed && typeof data === 'string' && data.includes('"type":"data"'))
                  dataSignals.push(data);
                if (directed && swallow > 0) swallow -= 1;
                else socket.send(data);
              },
            };
          },
        },
      );
      call.subscribe(() => play(current().snapshot()));
      call.onData((from, received) =>
        data.push([from, typeof received === 'string' ? received : `bytes ${received.join()}`]),
      );
    },
    call: current,
    /** What others sent: the sender, and the text, or the bytes in words. */
    data,
    /** What this page sent as data through the service. */
    dataSignals,
    async shareScreen(): Promise<void> {
      current().setScreen(await navigator.mediaDevices.getDisplayMedia({ video: true }));
    },
    /** Acts at that Unix time, in milliseconds, so that two pages act at the same moment. Resolves when the change is negotiated. */
    async restartIce(at: number): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, at - Date.now()));
      const connection = connections.find(({ connectionState }) => connectionState === 'connected');
      if (connection === undefined) throw new Error('not connected');
      const before = fragmentOf(connection);
      connection.restartIce();
      while (connection.signalingState !== 'stable' || fragmentOf(connection) === before)
        await new Promise((resolve) => {
          connection.addEventListener('signalingstatechange', resolve, { once: true });
        });
    },
    /** Our offers that were rolled back because of an offer of the other side. */
    collisions: (): number => collisions,
    /** Frames shown by all elements that play. */
    shown: (): number => shown,
    /** Frames decoded and sound energy received on the live connections, by role of the stream they belong to. */
    async received(): Promise<{ frames: number; screenFrames: number; energy: number }> {
      const totals = { frames: 0, screenFrames: 0, energy: 0 };
      const screens = new Set(
        current()
          .snapshot()
          .people.flatMap(({ screen }) => screen?.getTracks().map(({ id }) => id) ?? []),
      );
      for (const connection of connections) {
        if (connection.connectionState === 'closed') continue;
        for (const [, entry] of await connection.getStats()) {
          if (entry.type !== 'inbound-rtp') continue;
          if (entry.kind === 'audio') totals.energy += entry.totalAudioEnergy ?? 0;
          else if (screens.has(entry.trackIdentifier)) totals.screenFrames += entry.framesDecoded ?? 0;
          else totals.frames += entry.framesDecoded ?? 0;
        }
      }
      return totals;
    },
  };
}

/** The last negotiated ICE username fragment (RFC 8839 section 5.4). */
function fragmentOf({ currentLocalDescription }: RTCPeerConnection): string | undefined {
  return /^a=ice-ufrag:(\S+)/m.exec(currentLocalDescription?.sdp ?? '')?.[1];
}

/** Browsers decode audio only for an element that plays it, so the test page plays it as a real page does. */
function play({ people }: CallSnapshot): void {
  for (const stream of people.flatMap(({ stream, screen }) => [stream, screen])) {
    if (stream === null || playing.has(stream)) continue;
    const element = document.createElement('video');
    element.autoplay = true;
    element.srcObject = stream;
    playing.add(stream);
    document.body.append(element);
    count(element);
  }
}

function count(element: HTMLVideoElement): void {
  element.requestVideoFrameCallback(() => {
    shown += 1;
    count(element);
  });
}

const playing = new WeakSet<MediaStream>();
let shown = 0;
globalThis.stage = createStage();
