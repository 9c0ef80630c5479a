import { createFlagLog, type FlagLog } from './toolbar/flag-log.ts'
import type { PageOverrides } from './toolbar/page-overrides.ts'
import type { SigningServer } from './toolbar/sign-overrides.ts'
import { HalyardToolbar } from './toolbar/toolbar-element.ts'

export { createPageOverrides, type Override, type Overrides, type PageOverrides } from './toolbar/page-overrides.ts'
export type { FlagLog, HalyardToolbar, SigningServer }

export interface ToolbarOptions extends SigningServer {
  /** The same that the provider has. */
  readonly overrides: PageOverrides
  /** OpenFeature of `@openfeature/web-sdk`: its evaluations are listed. */
  readonly openFeature: { addHooks(...hooks: FlagLog['hook'][]): unknown }
}

const tagName = 'halyard-toolbar'

/** Shows the toolbar. Call it before the page reads flags: the toolbar lists what is read afterwards. */
export function showToolbar({ openFeature, ...parts }: ToolbarOptions): HalyardToolbar {
  if (customElements.get(tagName) === undefined) customElements.define(tagName, HalyardToolbar)
  const log = createFlagLog()
  openFeature.addHooks(log.hook)
  const existing = document.querySelector<HalyardToolbar>(tagName)
  const toolbar = existing ?? (document.createElement(tagName) as HalyardToolbar)
  toolbar.connect({ ...parts, log })
  if (existing === null) document.body.append(toolbar)
  return toolbar
}
