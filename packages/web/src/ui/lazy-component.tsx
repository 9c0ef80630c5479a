import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { LoadFailed } from './feedback/load-failed.tsx'

/**
 * A component whose code is loaded on demand. If it cannot be loaded, such as during a restart of the server, React would
 * replace the whole page with an error; here only that component is missing, and a message says so.
 */
export const lazyComponent = <Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> =>
  lazy(() => load().then<{ default: ComponentType<Props> }, { default: ComponentType<Props> }>(asDefault, withoutIt))

const asDefault = <T,>(component: T) => ({ default: component })
/** Browsers do not request a module again that they could not load. */
const withoutIt = () => ({ default: LoadFailed })
