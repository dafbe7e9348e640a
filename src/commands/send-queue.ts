// Sends files side by side, and fewer at a time where the service has no room for so many. What sending is, and what is told
// of it, is the caller's (send.ts).

/** What became of a file. */
export interface SendEnding {
  readonly isSent: boolean;
  /** It was refused because the account had as many Runs in flight as its plan allows. */
  readonly lacksSlot: boolean;
  /** Says so to whoever reads the terminal. A file that is sent once more is not told of before. */
  tell(): void;
}

export interface SendQueue<Item> {
  readonly items: readonly Item[];
  readonly parallel: number;
  /** Faults of ours are thrown. */
  readonly send: (item: Item) => Promise<SendEnding>;
  /** Ends what is under way, after a fault. */
  readonly abort: () => void;
}

/**
 * False: a file failed. A refusal for want of a slot is none while Runs of this queue may have held it: the file goes back to
 * those who have one, and one less is sent at a time. Throws the first fault, once nothing is under way any more.
 */
export async function sendQueued<Item>({ items, parallel, send, abort }: SendQueue<Item>): Promise<boolean> {
  const left = [...items];
  const faults: unknown[] = [];
  let working = Math.min(parallel, items.length);
  let isAllSent = true;
  const worker = async (): Promise<void> => {
    try {
      for (let item = left.shift(); item !== undefined; ) {
        const hadCompany = working > 1;
        const ending = await send(item);
        // Nothing is awaited between this look and the leave: somebody is there who takes the file.
        if (ending.lacksSlot && working > 1) return void left.push(item);
        // The Runs that held the slots have ended meanwhile.
        if (ending.lacksSlot && hadCompany) continue;
        ending.tell();
        isAllSent &&= ending.isSent;
        item = left.shift();
      }
    } catch (fault) {
      faults.push(fault);
      abort();
    } finally {
      working -= 1;
    }
  };
  await Promise.all(Array.from({ length: working }, worker));
  if (faults.length > 0) throw faults[0];
  return isAllSent;
}
