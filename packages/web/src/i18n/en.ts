import { account } from './en/account.en.ts'
import { approvals } from './en/change-control/approvals.en.ts'
import { environments } from './en/change-control/environments.en.ts'
import { cohorts } from './en/cohorts.en.ts'
import { conditions } from './en/conditions.en.ts'
import { editor } from './en/editor.en.ts'
import { explain } from './en/explain.en.ts'
import { flags } from './en/flags.en.ts'
import { general } from './en/general.en.ts'
import { history } from './en/history.en.ts'
import { identity } from './en/identity.en.ts'
import { organizations } from './en/organizations.en.ts'
import { persons } from './en/persons.en.ts'
import { plugins } from './en/plugins.en.ts'
import { projects } from './en/projects.en.ts'
import { schedule } from './en/schedule.en.ts'
import { session } from './en/session.en.ts'
import { shell } from './en/shell.en.ts'
import { audit } from './en/tools/audit.en.ts'
import { health } from './en/tools/health.en.ts'
import { home } from './en/tools/home.en.ts'
import { imports } from './en/tools/imports.en.ts'
import { playground } from './en/tools/playground.en.ts'
import { provisioning } from './en/tools/provisioning.en.ts'
import { setup } from './en/tools/setup.en.ts'
import { views } from './en/tools/views.en.ts'

/** All English messages. A translation has the same shape: a missing message does not compile. */
export const en = {
  ...general,
  ...session,
  ...shell,
  ...flags,
  ...conditions,
  ...editor,
  ...explain,
  ...health,
  ...history,
  ...schedule,
  ...persons,
  ...organizations,
  ...identity,
  ...projects,
  ...account,
  ...cohorts,
  ...imports,
  ...home,
  ...playground,
  ...setup,
  ...views,
  ...audit,
  ...provisioning,
  ...plugins,
  ...approvals,
  ...environments,
}

export type Messages = typeof en
