/** A directory that changes as the kubelet changes the volume of a Secret: all files at once, by a symbolic link to another directory. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export type Files = Readonly<Record<string, string>>;

export class SecretVolume {
  readonly directory: string = mkdtempSync(path.join(tmpdir(), 'parley-secret-'));
  #versions = 0;

  /** Each file is a link into `..data`, which is a link itself. */
  constructor(files: Files) {
    this.replace(files);
    for (const name of Object.keys(files)) symlinkSync(path.join('..data', name), this.file(name));
  }

  file(name: string): string {
    return path.join(this.directory, name);
  }

  /** The same names as at the start. */
  replace(files: Files): void {
    this.#versions += 1;
    const version = `..version-${this.#versions}`;
    mkdirSync(this.file(version));
    for (const [name, text] of Object.entries(files))
      writeFileSync(this.file(path.join(version, name)), text);
    symlinkSync(version, this.file('..data_tmp'));
    renameSync(this.file('..data_tmp'), this.file('..data'));
    if (this.#versions > 1) rmSync(this.file(`..version-${this.#versions - 1}`), { recursive: true });
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
