/** What is at fault may be out of sight, above the button or below it: the focus goes to the first field that is wrong. */
export function focusInvalidField(form: HTMLElement | null): void {
  const fault = form?.querySelector<HTMLElement>('[aria-invalid=true], [role=alert]')
  if (fault?.role === 'alert') fault.scrollIntoView({ block: 'center' })
  else fault?.focus()
}
