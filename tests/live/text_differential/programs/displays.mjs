// Progress displays of the usual npm libraries, short. Usage: node displays.mjs NAME
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.env.TEXT_NODE_MODULES + '/.anchor.js');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function ink() {
  const { default: React } = await load('react');
  const { render, Box, Text, Static } = await load('ink');
  const h = React.createElement;
  const App = () => {
    const [step, setStep] = React.useState(0);
    const { useApp } = inkModule;
    const { exit } = useApp();
    React.useEffect(() => {
      const timer = setInterval(() => setStep((value) => value + 1), 15);
      return () => clearInterval(timer);
    }, []);
    React.useEffect(() => { if (step >= 16) exit(); }, [step]);
    const done = Array.from({ length: Math.floor(step / 5) }, (_, number) => ({ id: number, text: `finished part ${number} of the work` }));
    return h(React.Fragment, null,
      h(Static, { items: done }, (item) => h(Text, { key: item.id, color: 'green' }, item.text)),
      h(Box, { borderStyle: 'round', flexDirection: 'column', paddingX: 1 },
        h(Text, null, `${'⠋⠙⠹⠸⠼⠴⠦⠧'[step % 8]} Working ${step}`),
        h(Text, { dimColor: true }, 'a second row of the box that says something rather long, so that it wraps in narrow panes')),
      h(Text, null, `Total: ${step}`));
  };
  const inkModule = await load('ink');
  await render(h(App)).waitUntilExit();
}

async function listr() {
  const { Listr } = await load('listr2');
  const task = (title, ms) => ({ title, task: async (_, self) => { self.output = `output of ${title}`; await sleep(ms); } });
  await new Listr([
    task('Fetch sources', 60),
    { title: 'Build', task: (_, self) => self.newListr([task('Compile', 80), task('Link', 120), task('Strip', 40)], { concurrent: true }) },
    { title: 'Publish', skip: () => 'not on this branch', task: async () => {} },
  ], { concurrent: false }).run();
}

async function ora() {
  const { default: createSpinner } = await load('ora');
  const spinner = createSpinner('Loading unicorns').start();
  await sleep(250);
  spinner.text = 'Loading rainbows, a text that is longer than a narrow pane is wide, and so it takes two rows';
  await sleep(250);
  spinner.succeed('Loaded');
  const second = createSpinner('Failing').start();
  await sleep(100);
  second.fail();
}

async function bars() {
  const { default: progress } = await load('cli-progress');
  const multi = new progress.MultiBar({ clearOnComplete: false, hideCursor: true, fps: 50, format: ' {bar} | {name} | {value}/{total}' });
  const all = ['first', 'second', 'third'].map((name) => multi.create(20, 0, { name }));
  for (let step = 0; step < 20; step++) {
    all.forEach((bar, number) => bar.update(Math.min(20, step + number)));
    if (step === 10) multi.log('a line above the bars\n');
    await sleep(15);
  }
  all.forEach((bar) => bar.update(20));
  multi.stop();
}

async function lines() {
  const { stdout } = process;
  for (let step = 0; step < 10; step++) {
    stdout.cursorTo(0);
    stdout.write(`step ${step}`);
    stdout.clearLine(1);
    await sleep(5);
  }
  stdout.write('\n');
  console.table([{ name: 'one', value: 1 }, { name: 'two', value: 22 }]);
}

await { ink, listr, ora, bars, lines }[process.argv[2]]();
