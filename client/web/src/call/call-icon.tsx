/** Icons that only the call uses, in the style of `design/icon.tsx`. */
import { IconPath } from '../design/icon.tsx';

const PATHS = {
  full: 'M4 9V4.500h4.500M15.500 4.500H20V9M20 15v4.500h-4.500M8.500 19.500H4V15',
  'full-end': 'M8.500 4.500V9H4M20 9h-4.500V4.500M15.500 19.500V15H20M4 15h4.500v4.500',
  person:
    'M12 11.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM5 19.500c.4-3.300 3.200-5.200 7-5.200s6.600 1.900 7 5.200',
  hide: 'M4 4l16 16M10.500 6.200c4-.700 7.500 1.500 9.500 5.800a12 12 0 0 1-2 3M14.500 16.800C10 18.300 6 16.300 4 12a11.500 11.500 0 0 1 2.800-3.800M10.300 10.300a2.400 2.400 0 0 0 3.400 3.400',
  move: 'M12 4v16M4 12h16M9.500 6.500 12 4l2.500 2.500M9.500 17.500 12 20l2.500-2.500M6.500 9.500 4 12l2.500 2.500M17.500 9.500 20 12l-2.500 2.500',
  silent: 'M4 9.500v5h3.500L12 18.500v-13L7.500 9.500H4zM16 9.500l5 5M21 9.500l-5 5',
  flip: 'M4 12a8 8 0 0 1 13.700-5.600L20 8.500M20 4.500v4h-4M20 12a8 8 0 0 1-13.700 5.600L4 15.500M4 19.500v-4h4',
} as const;

export type CallIconName = keyof typeof PATHS;

export function CallIcon({ name }: { readonly name: CallIconName }) {
  return <IconPath path={PATHS[name]} />;
}
