// Entry point of the console page.
import { render } from 'preact';
import { Console, forgetKeptRuns } from './console.ts';
import { ConsolePage } from './console-page.tsx';

const console = shownConsole();
addEventListener('beforeunload', (event) => {
  if (console.isBusy) event.preventDefault();
});
// A file that is dropped beside the drop zone would replace the page.
for (const name of ['dragover', 'drop']) addEventListener(name, (event) => event.preventDefault());

function shownConsole(): Console {
  try {
    return show();
  } catch {
    // The tab's storage has Runs that another version of this page has kept.
    forgetKeptRuns();
    return show();
  }
}

function show(): Console {
  const made = new Console(new URL('.', location.href));
  // A new element, because a view that failed stays in its own.
  const element = document.createElement('div');
  render(<ConsolePage console={made} />, element);
  document.getElementById('page')!.replaceChildren(element);
  return made;
}
