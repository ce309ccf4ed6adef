import { isPhone, type DevicePort } from '../media/devices.ts';
import { canNotify } from './alerts.ts';

const list = new Intl.ListFormat('en', { type: 'disjunction' });

/** Names what a call cannot do in this browser. Without https most of it is missing, and the problem of the devices says that. */
export function BrowserLacks({ port }: { readonly port: DevicePort }) {
  const lacks = lacksOf(port);
  if (lacks.length === 0 || !isSecureContext) return null;
  return (
    <p class="soft small" data-testid="browser-lacks">
      In this browser Parley cannot {list.format(lacks)}.
    </p>
  );
}

function lacksOf(port: DevicePort): string[] {
  const can: Readonly<Record<string, boolean>> = {
    'share a screen': port.openScreen !== null,
    'choose a speaker': port.canChooseSpeaker,
    'keep the screen on': 'wakeLock' in navigator,
    'show a picture in a window of its own': document.pictureInPictureEnabled,
    'show a picture in full screen': document.fullscreenEnabled,
    'show notifications': canNotify(isPhone()),
  };
  return Object.keys(can).filter((what) => !can[what]);
}
