import { render } from 'preact';
import { App } from './app';
import { MonitorStore } from './monitor/monitor-store';
import { MonitorStream } from './monitor/monitor-stream';
import './styles/colours.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/controls.css';
import './styles/table.css';
import './styles/buffer-bar.css';
import './styles/views.css';
import './styles/decoder.css';
import './styles/snowflake.css';

const root = document.getElementById('app');
if (root === null) throw new Error('The page lacks #app');
const store = new MonitorStore();
new MonitorStream(store).start();
render(<App store={store} />, root);
