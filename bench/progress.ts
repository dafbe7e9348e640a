// Shows what is being measured in one line of a terminal. Without a terminal, shows nothing.

const CLEAR_LINE = '\r\u001b[2K';

export interface Progress {
  show(text: string): void;
  /** Called before anything else is printed. */
  clear(): void;
}

export function progress(): Progress {
  const { stderr } = process;
  const write = (text: string): void => {
    if (stderr.isTTY) stderr.write(text);
  };
  return {
    show: (text) => write(`${CLEAR_LINE}${text.slice(0, (stderr.columns ?? 80) - 1)}`),
    clear: () => write(CLEAR_LINE),
  };
}
