// What `send` has on its way, for the line on the terminal.

const BYTES_PER_MB = 1_000_000;

export class SendTransfers {
  readonly #files: number;
  readonly #bytes = new Map<string, number>();
  #ended = 0;

  constructor(files: number) {
    this.#files = files;
  }

  moved(file: string, phase: string, bytes: number): void {
    this.#bytes.set(`${phase} ${file}`, bytes);
  }

  ended(): void {
    this.#ended += 1;
  }

  line(seconds: number): string {
    const sum = (phase: string): string => {
      const bytes = [...this.#bytes]
        .filter(([name]) => name.startsWith(phase))
        .reduce((all, [, each]) => all + each, 0);
      return (bytes / BYTES_PER_MB).toFixed(1);
    };
    return `${this.#ended} of ${this.#files} done, ${sum('upload')} MB sent, ${sum('download')} MB received, ${seconds} s`;
  }
}
