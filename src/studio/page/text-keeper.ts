// Keeps the unsaved text of the page in a recovery file of the server, and offers texts that other pages left.
import { type Signal, signal } from '@preact/signals';
import type { RecoveredText, RecoveryDecision } from '../studio-answers.ts';
import { AskError, ask } from './ask.ts';

/** Delay between the last change and the copy, in milliseconds. */
const PAUSE_MILLISECONDS = 400;

/** Delay until a copy that the server did not answer is sent again, in milliseconds. */
const RETRY_MILLISECONDS = 3_000;

/** Maximum length of a text sent while the page closes: browsers limit such requests to 64 KiB. In characters. */
const LAST_CHARACTERS_MAX = 20_000;

export class TextKeeper {
  /** A text that another page did not save; null: none, or the user has decided about all. */
  readonly recovered: Signal<RecoveredText | null>;
  readonly #onError: (error: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The text that is not copied yet; its source is null if the copy is to be removed. */
  #waiting: { readonly source: string | null } | null = null;
  readonly #page: string;
  /** Names of the offered texts about which the user has decided. */
  readonly #seen: string[] = [];
  #hasCopy = false;
  /** The request in progress. Copies are sent one after the other, so that the last one is kept. */
  #copying: Promise<void> = Promise.resolve();

  constructor(page: string, recovered: RecoveredText | null, onError: (error: unknown) => void) {
    this.#page = page;
    this.recovered = signal(recovered);
    this.#onError = onError;
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#copyLast();
    });
  }

  /**
   * Copies a text soon; null removes the copy, because the text of the page is that of the file. While another text is
   * offered, nothing is copied, because it may become the text of the page.
   */
  keep(text: string | null): void {
    if (this.recovered.peek() !== null || (text === null && !this.#hasCopy)) return;
    this.#hasCopy = true;
    this.#waiting = { source: text };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#copy(), PAUSE_MILLISECONDS);
  }

  /** The user continues the offered text, deletes it, or leaves it to another window or for later. */
  async decide(does: RecoveryDecision['does'] | 'leave'): Promise<void> {
    const recovered = this.recovered.peek();
    if (recovered === null) return;
    const { name, source } = recovered;
    this.#seen.push(name);
    try {
      if (does !== 'leave') await ask<null>('POST /api/decide', { page: this.#page, does, name, source });
      if (does === 'take') this.#hasCopy = true;
      // A page continues one text, and the others stay for later.
      this.recovered.value =
        does === 'take'
          ? null
          : await ask<RecoveredText | null>('POST /api/recovered', { page: this.#page, seen: this.#seen });
    } catch (error) {
      this.recovered.value = null;
      this.#onError(error);
    }
  }

  #copy(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting === null) return this.#copying;
    this.#copying = this.#copying
      .then(() => ask<void>('PUT /api/recovery', { page: this.#page, ...waiting }))
      .catch((error: unknown) => {
        this.#onError(error);
        // A refused copy would be refused again. If a newer text is waiting, it is sent instead.
        if (error instanceof AskError || this.#waiting !== null) return;
        this.#waiting = waiting;
        this.#timer = setTimeout(() => void this.#copy(), RETRY_MILLISECONDS);
      });
    return this.#copying;
  }

  /** The page may be about to close. */
  #copyLast(): void {
    const waiting = this.#waiting;
    if (waiting === null || (waiting.source?.length ?? 0) > LAST_CHARACTERS_MAX) return;
    clearTimeout(this.#timer);
    this.#waiting = null;
    void ask('PUT /api/recovery', { page: this.#page, ...waiting }, true).catch(this.#onError);
  }
}
