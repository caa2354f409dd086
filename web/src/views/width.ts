// How wide an element is, in pixels, kept up to date.
import type {RefObject} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';

export function useWidth<T extends Element>(standard = 800): [RefObject<T | null>, number] {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(standard);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const measure = () => setWidth(Math.round(element.getBoundingClientRect().width) || standard);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, [standard]);
  return [ref, width];
}
