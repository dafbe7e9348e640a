// The question what to do with a text that another page did not save. The page waits for the decision.
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Studio } from './studio.ts';

export function RecoveryDialog({ studio }: { readonly studio: Studio }): JSX.Element | null {
  const dialog = useRef<HTMLDialogElement>(null);
  const recovered = studio.keeper.recovered.value;
  useLayoutEffect(() => dialog.current?.showModal(), [recovered]);
  if (recovered === null) return null;
  const { file } = studio;
  return (
    <dialog
      ref={dialog}
      class="recovery"
      aria-labelledby="recovery-title"
      // Escape is no decision. Other ways to close a dialog, such as a gesture, open it again.
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.preventDefault();
      }}
      onCancel={(event) => event.preventDefault()}
      onClose={() => dialog.current?.showModal()}
    >
      <h2 id="recovery-title">Restore your unsaved text?</h2>
      <p>
        A text of {file.template} was not saved. Its last change was {ago(Date.now() - recovered.writtenAt)}.
        {recovered.mayBeOpen && ' It may belong to another window that is still open; then leave it there.'}
        {recovered.isTemplateNewer && ' The file was changed after that, so compare the two before you save.'}
      </p>
      <p>
        <button type="button" class="first" onClick={() => void studio.restore()}>
          Restore
        </button>{' '}
        <button type="button" onClick={() => void studio.keeper.decide('leave')}>
          Leave it
        </button>{' '}
        <button type="button" onClick={() => void studio.keeper.decide('drop')}>
          Delete the unsaved text
        </button>
      </p>
    </dialog>
  );
}

const MINUTE_MILLISECONDS = 60_000;
const MINUTES_OF_HOUR = 60;
const HOURS_OF_DAY = 24;

function ago(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / MINUTE_MILLISECONDS);
  const hours = Math.floor(minutes / MINUTES_OF_HOUR);
  const days = Math.floor(hours / HOURS_OF_DAY);
  if (minutes < 1) return 'less than a minute ago';
  if (hours < 1) return counted(minutes, 'minute');
  return days < 1 ? counted(hours, 'hour') : counted(days, 'day');
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}
