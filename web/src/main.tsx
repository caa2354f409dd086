import {type ComponentType, render} from 'preact';
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
import {PAGES, type PagePath} from './views/pages';
import {KernelsPage, ModulesPage, OperatorsPage} from './views/pages_of_work';
import {RooflinePage} from './views/roofline';
import {helpOpen, LoadingPage, Shell} from './views/shell';
import {Empty} from './views/states';
import {SystemPage} from './views/system';
import {TimelinePage} from './views/timeline/page';

const VIEWS: Record<PagePath, ComponentType> = {
  '': OverviewPage,
  timeline: TimelinePage,
  operators: OperatorsPage,
  kernels: KernelsPage,
  modules: ModulesPage,
  roofline: RooflinePage,
  system: SystemPage,
  ask: AllQuestions,
};

function Page() {
  const {path} = route.value;
  const waits = run.value.state === 'ready' && run.value.value.state === 'none';
  if (waits || (path === 'open' && root.value !== null)) return <OpenPage />;
  if (readyRun.value === null) return <LoadingPage />;
  if (path.startsWith('ask/')) return <AskPage key={path} name={path.slice(4)} />;
  const page = PAGES.find((each) => each.path === path);
  if (page === undefined) {
    return <Empty title="There is no such page">The address may come from another version.</Empty>;
  }
  const View = VIEWS[page.path];
  return <View key={path} />;
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
  } else {
    const page = PAGES[Number(event.key) - 1];
    if (page !== undefined) go(page.path);
  }
});

const place = document.getElementById('page');
if (place !== null) render(<App />, place);
void start();
