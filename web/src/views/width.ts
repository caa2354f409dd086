// How wide an element is, in pixels, kept up to date.
import type {RefObject} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';

export function useWidth<T extends Element>(fallback = 800): [RefObject<T | null>, number] {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(fallback);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const measure = () => setWidth(Math.round(element.getBoundingClientRect().width) || fallback);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, [fallback]);
  return [ref, width];
}
