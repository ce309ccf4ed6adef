/** Storage that may be unavailable (private windows, embedded pages, full disks): values are then not stored. */

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
        // Not stored: nothing in the application depends on it.
      }
    },
  };
}

/** Stored in this browser. */
export const browserStore = store(() => localStorage);
/** Stored in this tab, across reloads. A duplicated tab starts with a copy: see `tab.ts`. */
export const tabStore = store(() => sessionStorage);
