// Light or dark: what the system wants, unless the switch was used.
import {computed, effect, signal} from '@preact/signals';

export type Theme = 'light' | 'dark';

const KEY = 'stepscope.theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const systemTheme = signal<Theme>(system.matches ? 'dark' : 'light');
system.addEventListener('change', () => {
  systemTheme.value = system.matches ? 'dark' : 'light';
});

function stored(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : null;
  } catch {
    return null; // a browser that keeps nothing
  }
}

const chosen = signal<Theme | null>(stored());
export const theme = computed<Theme>(() => chosen.value ?? systemTheme.value);

export function switchTheme(): void {
  const next: Theme = theme.value === 'dark' ? 'light' : 'dark';
  chosen.value = next === systemTheme.value ? null : next;
  try {
    if (chosen.value === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // The choice lasts as long as the page.
  }
}

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});
