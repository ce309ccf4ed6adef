/** A call in one file. The fragment of the address is the room: every tab that opens the address is a participant. */
import { adHocRoomId } from '@parley/protocol/ids';
import { browserPorts } from '@parley/sdk/browser-ports';
import type { CallConnection } from '@parley/sdk/call';
import { joinCall } from '@parley/sdk/join-call';

const me = find('me', HTMLVideoElement);
const videos = find('videos', HTMLElement);
const status = find('status', HTMLOutputElement);
const leave = find('leave', HTMLButtonElement);

if (location.hash === '') location.hash = adHocRoomId(crypto.getRandomValues(new Uint8Array(16)));
find('link', HTMLAnchorElement).href = location.href;

const devices = navigator.mediaDevices.getUserMedia({ audio: true, video: true });
devices.then(join, (error: unknown) => {
  status.value = `The camera or microphone does not open: ${String(error)}`;
});

function join(local: MediaStream): void {
  me.srcObject = local;
  const [microphone = null] = local.getAudioTracks();
  const [camera = null] = local.getVideoTracks();
  const room = location.hash.slice(1);
  const call = joinCall({ api: location.origin, room, name: 'Guest', microphone, camera }, browserPorts());

  const elements = new Map<string, HTMLVideoElement>();
  const draw = (): void => {
    const { connection, people } = call.snapshot();
    status.value = sentence(connection);
    for (const { participant, stream } of people) {
      const element = elements.get(participant) ?? videos.appendChild(newVideo());
      elements.set(participant, element);
      // Assigning the same stream again would restart the element.
      if (element.srcObject !== stream) element.srcObject = stream;
    }
    for (const [participant, element] of elements) {
      if (people.some((person) => person.participant === participant)) continue;
      element.remove();
      elements.delete(participant);
    }
    if (connection.status !== 'ended') return;
    leave.disabled = true;
    for (const track of local.getTracks()) track.stop();
  };
  call.subscribe(draw);
  draw();
  leave.disabled = false;
  leave.addEventListener('click', () => call.leave());
}

function newVideo(): HTMLVideoElement {
  const element = document.createElement('video');
  element.autoplay = true;
  element.playsInline = true;
  return element;
}

function sentence(connection: CallConnection): string {
  return connection.status === 'ended'
    ? `The call ended: ${connection.reason}`
    : `Connection: ${connection.status}`;
}

function find<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return element;
}
