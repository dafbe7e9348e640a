// Entry point of the console page.
import { render } from 'preact';
import { Console } from './console.ts';
import { ConsolePage } from './console-page.tsx';

const console = new Console(new URL('.', location.href));
addEventListener('beforeunload', (event) => {
  if (console.isBusy) event.preventDefault();
});
// A file that is dropped beside the drop zone would replace the page.
for (const name of ['dragover', 'drop']) addEventListener(name, (event) => event.preventDefault());
render(<ConsolePage console={console} />, document.getElementById('page')!);
