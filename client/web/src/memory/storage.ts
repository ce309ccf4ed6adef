/** Storage that may be refused (private windows, embedded pages, full disks): then things are simply not remembered. */

export interface Store {
  read(key: string): string | null;
  write(key: string, value: string | null): void;
}

function store(open: () => Storage): Store {
  return {
    read(key) {
      try {
        return open().getItem(key);
      } catch {
        return null;
      }
    },
    write(key, value) {
      try {
        if (value === null) open().removeItem(key);
        else open().setItem(key, value);
      } catch {
        // Not remembered: nothing in the application depends on it.
      }
    },
  };
}

/** Kept in this browser. */
export const browserStore = store(() => localStorage);
/** Kept in this tab, through reloads. A duplicated tab starts with a copy: see `tab.ts`. */
export const tabStore = store(() => sessionStorage);
