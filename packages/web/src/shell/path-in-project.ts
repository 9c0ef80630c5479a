/**
 * The address of the same page in another project. Objects have other ids there, so that the page of one leads to their
 * list; settings have the same tabs everywhere.
 */
export function pathIn(path: string, projectId: number): string {
  const [, scope, , section, tab] = path.split('/')
  if (scope !== 'project') return `/project/${projectId}/flags`
  if (!section) return `/project/${projectId}`
  return `/project/${projectId}/${section === 'settings' && tab ? `settings/${tab}` : section}`
}
