// Operators, kernels, modules: what takes the time.
import {type Choice, ChosenPage} from './chosen_table';

// The code that launched the work of the GPU, as a flame graph.
const CALL_STACKS: Choice = {
  id: 'stacks',
  table: 'frames',
  title: 'By stack',
  about: 'The code that launched the work of the GPU, as wide as the GPU time of that work.',
  analysis: 'stacks',
  settings: ['depth', 'no-python', 'no-operators', 'no-calls', 'no-kernels'],
  defaults: {metric: 'device', top: '400'},
  value: 'device_ns',
};

const OPERATOR = [
  'calls',
  'device_self_ns',
  'device_self_share',
  'device_total_ns',
  'host_self_ns',
  'host_self_share',
  'host_total_ns',
  'tensor_cores',
];

export function OperatorsPage() {
  return (
    <ChosenPage
      name="operators"
      title="Operators"
      about="Functions of the framework, the longest on the GPU first. Self: without the operators it calls."
      settings={['top', 'frames']}
      defaults={{top: '200'}}
      choices={[
        {
          id: 'names',
          table: 'operators',
          title: 'By name',
          columns: ['rank', 'name', ...OPERATOR],
        },
        {
          id: 'shapes',
          table: 'shapes',
          title: 'By shape',
          columns: ['rank', 'name', 'shapes', ...OPERATOR.slice(0, 5)],
        },
        {
          id: 'stacks',
          table: 'stacks',
          title: 'By stack',
          columns: ['rank', 'name', 'stack', ...OPERATOR.slice(0, 5)],
        },
        {id: 'tensor-cores', table: 'tensor_cores', title: 'Tensor cores'},
      ]}
    />
  );
}

export function KernelsPage() {
  return (
    <ChosenPage
      name="kernels"
      title="Kernels"
      about="Programs that run on the GPU, the longest first. A name leads to its runs in the timeline."
      settings={['top', 'memory']}
      defaults={{top: '200'}}
      choices={[
        {
          id: 'names',
          table: 'kernels',
          title: 'By name',
          columns: [
            'rank',
            'name',
            'class',
            'count',
            'sum_ns',
            'share',
            'mean_ns',
            'median_ns',
            'p95_ns',
            'blocks_per_sm',
            'occupancy_share',
          ],
        },
        {
          id: 'operators',
          table: 'kernels',
          title: 'By operator',
          analysis: 'roofline',
          settings: ['top'],
          columns: [
            'rank',
            'kernel',
            'operator',
            'count',
            'device_ns',
            'share',
            'bound',
            'lost_ns',
          ],
        },
        {
          id: 'shapes',
          table: 'shapes',
          title: 'By shape',
          about:
            'Operators by the shapes of their inputs, those whose own kernels take longest first. Work count: kernels, copies and memsets of all their calls.',
          analysis: 'operators',
          settings: ['top'],
          columns: [
            'rank',
            'name',
            'shapes',
            'calls',
            'work_count',
            'device_self_ns',
            'device_self_share',
          ],
        },
        CALL_STACKS,
        {id: 'types', table: 'devices', title: 'By type', analysis: 'kernel-types', settings: []},
      ]}
    />
  );
}

export function ModulesPage() {
  return (
    <ChosenPage
      name="modules"
      title="Modules"
      about="Parts of the model below the part that called them, as wide as their GPU time. Click one to look inside."
      settings={['top', 'depth', 'by', 'from']}
      defaults={{top: '400'}}
      choices={[
        {
          id: 'modules',
          table: 'modules',
          title: 'By module',
          columns: [
            'rank',
            'module',
            'calls',
            'device_ns',
            'share',
            'forward_ns',
            'backward_ns',
            'device_self_ns',
            'host_ns',
            'class',
          ],
        },
        CALL_STACKS,
      ]}
    />
  );
}
