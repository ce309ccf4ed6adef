/** Icons that only streams use, in the style of `design/icon.tsx`. */
import { IconPath } from '../design/icon.tsx';

const PATHS = {
  'sound-off': 'M4 9.500v5h3.500L12 18.500v-13L7.500 9.500H4zM16 9.500l5 5M21 9.500l-5 5',
  full: 'M4 9V4.500h4.500M15.500 4.500H20V9M20 15v4.500h-4.500M8.500 19.500H4V15',
  chart: 'M4 19.500h16M6.500 16v-4M11 16V6.500M15.500 16v-6M20 16V9',
  play: 'M8 5.500v13l10.500-6.500z',
  pause: 'M8.500 5.500v13M15.500 5.500v13',
  antenna:
    'M12 13.500v7M8.500 20.500h7M12 13.500a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 15.500a5.700 5.700 0 0 1 0-8M16 7.500a5.700 5.700 0 0 1 0 8M5.200 18.300a9.700 9.700 0 0 1 0-13.600M18.800 4.700a9.700 9.700 0 0 1 0 13.600',
} as const;

export type StreamIconName = keyof typeof PATHS;

export function StreamIcon({ name }: { readonly name: StreamIconName }) {
  return <IconPath path={PATHS[name]} />;
}
