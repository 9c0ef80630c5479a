import type { Project } from '@halyard/contract'
import { useMemo } from 'react'
import { useFormats, useMessages } from '../i18n/language.tsx'
import type { Wording } from './flag-sentences.ts'

interface Known {
  readonly project: Pick<Project, 'group_types'>
  readonly flags: readonly { readonly id: number; readonly key: string }[]
  readonly cohorts: readonly { readonly id: number; readonly name: string }[]
}

export function useWording({ project, flags, cohorts }: Known): Wording {
  const t = useMessages()
  const { percent } = useFormats()
  return useMemo(
    () => ({
      t,
      percent,
      groupTypes: project.group_types,
      cohortName: id => cohorts.find(cohort => String(cohort.id) === id)?.name ?? `#${id}`,
      flagKey: id => flags.find(flag => String(flag.id) === id)?.key ?? `#${id}`,
    }),
    [t, percent, project, flags, cohorts],
  )
}
