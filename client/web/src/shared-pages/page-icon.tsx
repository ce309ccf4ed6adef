/** Icons that only pages use, in the style of `design/icon.tsx`. */
import { IconPath } from '../design/icon.tsx';

const PATHS = {
  file: 'M7 3.500h7l5 5V19a1.500 1.500 0 0 1-1.500 1.500H7A1.500 1.500 0 0 1 5.500 19V5A1.500 1.500 0 0 1 7 3.500zM13.500 3.500v5.500H19',
  save: 'M12 4v11M7.500 11l4.500 4.500 4.500-4.500M4.500 20h15',
  share:
    'M12 15V4M7.500 8 12 3.500 16.500 8M6.500 11.500H6A1.500 1.500 0 0 0 4.500 13v6A1.500 1.500 0 0 0 6 20.500h12a1.500 1.500 0 0 0 1.500-1.500v-6a1.500 1.500 0 0 0-1.500-1.500h-.500',
  swarm:
    'M12 14.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM5 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM19 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM5 21a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM19 21a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM6.500 6.500l3.600 3.600M17.500 6.500l-3.600 3.600M6.500 17.500l3.600-3.600M17.500 17.500l-3.600-3.600',
} as const;

export type PageIconName = keyof typeof PATHS;

export function PageIcon({ name }: { readonly name: PageIconName }) {
  return <IconPath path={PATHS[name]} />;
}
