// One line that says what is being measured, on a terminal; elsewhere nothing.

const CLEAR_LINE = '\r\u001b[2K';

export interface Progress {
  show(text: string): void;
  /** Before anything else is printed. */
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
