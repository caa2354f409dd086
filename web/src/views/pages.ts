// The pages of the bar on top, in the order in which people ask. main.tsx has a view for each.
interface Page {
  path: string;
  title: string;
  about: string;
}

export const PAGES = [
  {path: '', title: 'Overview', about: 'What is wrong, where the time goes, how busy the GPUs are'},
  {path: 'timeline', title: 'Timeline', about: 'Every event of every rank, in time'},
  {
    path: 'operators',
    title: 'Operators',
    about: 'Which operators take the time, on the host and on the GPU',
  },
  {path: 'kernels', title: 'Kernels', about: 'Which programs take the time of the GPU'},
  {
    path: 'modules',
    title: 'Modules',
    about: 'Which parts of the model take the time, forward and backward',
  },
  {
    path: 'roofline',
    title: 'Roofline',
    about: 'How near operators and kernels come to what the GPU can do',
  },
  {path: 'system', title: 'System', about: 'What processes and machines recorded over time'},
  {
    path: 'ask',
    title: 'All questions',
    about: 'Every analysis there is, with its tables and settings',
  },
] as const satisfies readonly Page[];

export type PagePath = (typeof PAGES)[number]['path'];
