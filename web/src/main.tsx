import {render} from 'preact';
import './style/theme.css';
import './style/page.css';
import './style/table.css';
import './style/charts.css';
import './style/overview.css';
import './style/timeline.css';
import {go, route} from './state/route';
import {readyRun, root, run, start} from './state/run';
import './state/theme';
import {AllQuestions, AskPage} from './views/ask';
import {OpenPage} from './views/open';
import {OverviewPage} from './views/overview';
import {PAGES} from './views/pages';
import {KernelsPage, ModulesPage, OperatorsPage} from './views/pages_of_work';
import {RooflinePage} from './views/roofline';
import {helpOpen, LoadingPage, Shell} from './views/shell';
import {Empty} from './views/states';
import {SystemPage} from './views/system';
import {TimelinePage} from './views/timeline/page';

function Page() {
  const {path} = route.value;
  const waits = run.value.state === 'ready' && run.value.value.state === 'none';
  if (waits || (path === 'open' && root.value !== null)) return <OpenPage />;
  if (readyRun.value === null) return <LoadingPage />;
  if (path.startsWith('ask/')) return <AskPage key={path} name={path.slice(4)} />;
  switch (path) {
    case '':
      return <OverviewPage />;
    case 'timeline':
      return <TimelinePage />;
    case 'operators':
      return <OperatorsPage key={path} />;
    case 'kernels':
      return <KernelsPage key={path} />;
    case 'modules':
      return <ModulesPage key={path} />;
    case 'roofline':
      return <RooflinePage />;
    case 'system':
      return <SystemPage />;
    case 'ask':
      return <AllQuestions />;
    default:
      return (
        <Empty title="There is no such page">The address may come from another version.</Empty>
      );
  }
}

function App() {
  return (
    <Shell whole={route.value.path === 'timeline' && readyRun.value !== null}>
      <Page />
    </Shell>
  );
}

addEventListener('keydown', (event) => {
  const typing =
    event.target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape' && typing) (event.target as HTMLElement).blur();
  if (typing) return;
  if (event.key === '?') helpOpen.value = !helpOpen.value;
  else if (event.key === '/') {
    const field = document.querySelector<HTMLInputElement>('input[type=search]');
    if (field === null) return;
    field.focus();
    field.select();
    event.preventDefault();
  } else if (event.key.toLowerCase() === 'o' && root.value !== null) {
    go('open');
  } else if (/^[1-8]$/.test(event.key)) {
    go(PAGES[Number(event.key) - 1]!.path);
  }
});

const place = document.getElementById('page');
if (place !== null) render(<App />, place);
void start();
