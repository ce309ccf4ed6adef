/** Cameras and screens painted on a canvas, so that pictures of the gallery are the same on every machine. */
import type { DevicePort } from '../../src/media/devices.ts';

interface Look {
  readonly wall: readonly [string, string];
  readonly skin: string;
  readonly hair: string;
  readonly top: string;
  readonly long: boolean;
}

const LOOKS: readonly Look[] = [
  { wall: ['#d9cdb8', '#a08c6e'], skin: '#e2ab83', hair: '#3a2a20', top: '#2e4a5f', long: false },
  { wall: ['#a9c3b6', '#5f8474'], skin: '#8b5a3c', hair: '#1c1512', top: '#d8963a', long: true },
  { wall: ['#c7b6c9', '#7f6a86'], skin: '#f0c6a2', hair: '#a5522b', top: '#39594c', long: true },
  { wall: ['#e0c1a4', '#a8744e'], skin: '#c68a60', hair: '#5f5b56', top: '#e9e3d6', long: false },
  { wall: ['#b3c4d6', '#62788f'], skin: '#eab894', hair: '#c79a4b', top: '#8c3f3a', long: true },
  { wall: ['#cfd3b2', '#8a8f63'], skin: '#71462d', hair: '#15100e', top: '#556b8f', long: false },
];

export function fakeCamera(number: number, { width, height } = { width: 640, height: 400 }): MediaStream {
  return paint(width, height, (context) => drawPerson(context, number));
}

declare global {
  /** The effect of the button "Stop sharing" of the browser. */
  var endFakeScreen: (() => void) | undefined;
}

export function fakeScreen(): MediaStream {
  const stream = paint(1600, 1000, drawScreen);
  globalThis.endFakeScreen = () => stream.getVideoTracks()[0]?.dispatchEvent(new Event('ended'));
  return stream;
}

function paint(
  width: number,
  height: number,
  draw: (context: CanvasRenderingContext2D) => void,
): MediaStream {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('no canvas');
  const again = () => draw(context);
  again();
  const stream = canvas.captureStream(5);
  // A canvas sends frames only when it is painted.
  setInterval(again, 1000);
  return stream;
}

function drawPerson(context: CanvasRenderingContext2D, number: number): void {
  const { width, height } = context.canvas;
  const look = LOOKS[number % LOOKS.length];
  if (!look) return;
  const wall = context.createLinearGradient(0, 0, width, height);
  wall.addColorStop(0, look.wall[0]);
  wall.addColorStop(1, look.wall[1]);
  context.fillStyle = wall;
  context.fillRect(0, 0, width, height);
  context.fillStyle = 'rgb(255 255 255 / 22%)';
  context.fillRect(width * 0.08, height * 0.1, width * 0.2, height * 0.38);
  context.fillStyle = 'rgb(0 0 0 / 10%)';
  context.fillRect(width * 0.74, height * 0.3, width * 0.2, height * 0.02);
  context.fillRect(width * 0.78, height * 0.16, width * 0.03, height * 0.14);
  context.fillRect(width * 0.83, height * 0.12, width * 0.04, height * 0.18);
  const x = width * (0.5 + ((number % 3) - 1) * 0.03);
  const head = height * 0.19;
  const y = height * 0.44;
  const ellipse = (cx: number, cy: number, rx: number, ry: number, fill: string) => {
    context.fillStyle = fill;
    context.beginPath();
    context.ellipse(cx, cy, rx, ry, 0, 0, Math.PI * 2);
    context.fill();
  };
  if (look.long) ellipse(x, y + head * 0.5, head * 1.28, head * 1.75, look.hair);
  ellipse(x, height * 1.14, height * 0.47, height * 0.45, look.top);
  context.fillStyle = look.skin;
  context.fillRect(x - head * 0.38, y + head * 0.6, head * 0.76, head * 0.9);
  ellipse(x, y - head * 0.2, head * 1.12, head * 1.2, look.hair);
  ellipse(x, y + head * 0.12, head * 0.92, head * 1.12, look.skin);
  ellipse(x - head * 0.1, y - head * 0.85, head * 0.95, head * 0.42, look.hair);
  ellipse(x - head * 0.34, y + head * 0.05, head * 0.08, head * 0.1, '#241812');
  ellipse(x + head * 0.34, y + head * 0.05, head * 0.08, head * 0.1, '#241812');
  context.strokeStyle = '#5b3322';
  context.lineWidth = head * 0.07;
  context.lineCap = 'round';
  context.beginPath();
  context.arc(x, y + head * 0.42, head * 0.3, 0.25, Math.PI - 0.25);
  context.stroke();
}

function drawScreen(context: CanvasRenderingContext2D): void {
  const { width, height } = context.canvas;
  context.fillStyle = '#fbfaf7';
  context.fillRect(0, 0, width, height);
  context.fillStyle = '#e8e4da';
  context.fillRect(0, 0, width, 64);
  context.fillStyle = '#1d2521';
  context.font = '600 54px sans-serif';
  context.fillText('Plan for the spring fair', 110, 190);
  const rows = [820, 1180, 990, 1240, 700, 1090];
  for (const [index, length] of rows.entries()) {
    context.fillStyle = index % 3 === 0 ? '#1f7a63' : '#c9c2b3';
    context.fillRect(110, 270 + index * 92, length, index % 3 === 0 ? 44 : 22);
  }
}

const device = (kind: MediaDeviceKind, id: string, label: string): MediaDeviceInfo => ({
  kind,
  deviceId: id,
  label,
  groupId: id,
  toJSON: () => ({}),
});

export interface FakeDeviceOptions {
  /** The name of the error with which opening fails, for example `NotAllowedError`. */
  readonly error?: string;
  readonly access?: DevicePort['access'];
  readonly canShare?: boolean;
}

export function fakeDevices({ error, access = 'yes', canShare = true }: FakeDeviceOptions = {}): DevicePort {
  return {
    access,
    open: (constraints) => {
      if (error) return Promise.reject(new DOMException('', error));
      const stream = new MediaStream();
      if (constraints.video) for (const track of fakeCamera(0).getTracks()) stream.addTrack(track);
      if (constraints.audio) stream.addTrack(fakeVoice());
      return Promise.resolve(stream);
    },
    openScreen: canShare ? () => Promise.resolve(fakeScreen()) : null,
    list: () =>
      Promise.resolve(
        error || access !== 'yes'
          ? []
          : [
              device('videoinput', 'c1', 'FaceCam HD'),
              device('videoinput', 'c2', 'Document camera'),
              device('audioinput', 'm1', 'Built-in microphone'),
              device('audioinput', 'm2', 'Studio microphone with a rather long name'),
              device('audiooutput', 's1', 'Headphones'),
              device('audiooutput', 's2', 'Speakers'),
            ],
      ),
    watch: () => () => {},
    canChooseSpeaker: true,
    canFlipCamera: !canShare,
  };
}

/** A live track that contains silence. */
function fakeVoice(): MediaStreamTrack {
  const context = new AudioContext();
  const [track] = context.createMediaStreamDestination().stream.getAudioTracks();
  if (!track) throw new Error('no track');
  return track;
}
