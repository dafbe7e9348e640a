// The menu of a column or a cell: entries that open the form of a step.
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { OpenMenu } from './page-parts.ts';
import type { StepForm } from './step-form.ts';
import type { Studio } from './studio.ts';

/** Distance that a menu keeps from the edges of the window, in pixels. */
const MARGIN = 8;

export function Menu({
  studio,
  form,
  menu,
}: {
  readonly studio: Studio;
  readonly form: StepForm;
  readonly menu: OpenMenu;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    place(box.current!, menu);
    box.current!.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const onPress = (event: Event): void => {
      if (!box.current!.contains(event.target as Node)) studio.menu.value = null;
    };
    document.addEventListener('pointerdown', onPress);
    return () => document.removeEventListener('pointerdown', onPress);
  }, [menu]);
  const close = (): void => {
    studio.menu.value = null;
    menu.opener?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const items = [...box.current!.querySelectorAll<HTMLElement>('[role=menuitem]')];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const next = nextItem(items, at, event.key);
    if (next !== undefined) next.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={box} class="menu" role="menu" aria-label={menu.title} onKeyDown={onKeyDown}>
      {menu.actions.length > 0 && (
        <div role="group" aria-label="Selection">
          {menu.actions.map(({ label, run }) => (
            <MenuItem
              key={label}
              label={label}
              onClick={() => {
                close();
                run();
              }}
            />
          ))}
        </div>
      )}
      {menu.groups.map(({ title, entries }) => (
        <div key={title} role="group" aria-label={title}>
          <div class="group-title" aria-hidden="true">
            {title}
          </div>
          {entries.map(({ label, step }) => (
            <MenuItem
              key={label}
              label={label}
              onClick={() => {
                studio.menu.value = null;
                form.addStep(step);
              }}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

function MenuItem({ label, onClick }: { readonly label: string; readonly onClick: () => void }): JSX.Element {
  return (
    <button type="button" role="menuitem" tabIndex={-1} onClick={onClick}>
      {label}
    </button>
  );
}

/** Moves with the arrows, or to the next entry that begins with a letter. */
function nextItem(items: readonly HTMLElement[], at: number, key: string): HTMLElement | undefined {
  const { length } = items;
  if (key === 'ArrowDown') return items[(at + 1) % length];
  if (key === 'ArrowUp') return items[(at - 1 + length) % length];
  if (key === 'Home') return items[0];
  if (key === 'End') return items[length - 1];
  if (key.length !== 1 || key === ' ') return undefined;
  const following = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return following.find((item) => item.innerText.toLowerCase().startsWith(key.toLowerCase()));
}

/** Keeps the menu inside of the window. */
function place(box: HTMLElement, { left, top }: OpenMenu): void {
  const { offsetWidth, offsetHeight } = box;
  box.style.left = `${Math.max(MARGIN, Math.min(left, innerWidth - offsetWidth - MARGIN))}px`;
  box.style.top = `${Math.max(MARGIN, Math.min(top, innerHeight - offsetHeight - MARGIN))}px`;
}
