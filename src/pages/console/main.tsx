// Entry point of the console page.
import { render } from 'preact';
import { Console } from './console.ts';
import { ConsolePage } from './console-page.tsx';

render(<ConsolePage console={new Console(new URL('.', location.href))} />, document.getElementById('page')!);
