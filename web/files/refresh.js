'use strict';
(() => {
  const every = Number(document.body.dataset.refresh) * 1000;
  const stale = Number(document.body.dataset.stale);
  const fresh = document.getElementById('fresh');
  let tag = '', busy = false;

  // say tells how fresh the page is, and changes nothing if that is the same.
  const say = (text, old) => {
    if (fresh.textContent !== text) fresh.textContent = text;
    fresh.classList.toggle('old', old);
  };

  // same makes an element like another one and touches only what differs, so
  // that nothing flickers, and what is unfolded, focused or selected stays so.
  const same = (is, be) => {
    for (const {name} of [...is.attributes])
      if (name !== 'open' && !be.hasAttribute(name)) is.removeAttribute(name);
    for (const {name, value} of be.attributes)
      if (name !== 'open' && is.getAttribute(name) !== value) is.setAttribute(name, value);
    const named = new Map();
    for (const child of is.children) if (child.id) named.set(child.id, child);
    let at = is.firstChild;
    for (const want of [...be.childNodes]) {
      let have = want.id ? named.get(want.id) : at && !at.id ? at : null;
      if (have && (have.nodeType !== want.nodeType || have.nodeName !== want.nodeName)) have = null;
      if (!have) {
        is.insertBefore(document.importNode(want, true), at);
        continue;
      }
      if (have === at) at = at.nextSibling;
      else is.insertBefore(have, at);
      if (have.nodeType === Node.ELEMENT_NODE) same(have, want);
      else if (have.nodeValue !== want.nodeValue) have.nodeValue = want.nodeValue;
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  };

  // age is how old the reading was when the server answered, by its own clock.
  const age = answer => {
    const read = Date.parse(document.getElementById('main').dataset.at);
    return (Date.parse(answer.headers.get('Date')) - read) / 1000;
  };

  const refresh = async () => {
    if (busy || document.hidden) return;
    busy = true;
    try {
      const answer = await fetch(location.pathname, {cache: 'no-cache', signal: AbortSignal.timeout(10000)});
      if (!answer.ok) throw new Error(answer.status);
      if (!tag || answer.headers.get('ETag') !== tag) {
        const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
        same(document.getElementById('main'), next.getElementById('main'));
        if (document.title !== next.title) document.title = next.title;
        same(document.querySelector('link[rel=icon]'), next.querySelector('link[rel=icon]'));
        tag = answer.headers.get('ETag');
      }
      const old = age(answer), at = document.getElementById('main').dataset.at.slice(11, 19);
      if (stale && old > stale) say(`No new reading since ${at} UTC`, true);
      else say(`Read ${at} UTC`, false);
    } catch {
      say('rdmawatch does not answer, trying again', true);
    }
    busy = false;
  };

  // A link to something folded unfolds it.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.nodeName === 'DETAILS') target.open = true;
  };
  addEventListener('hashchange', unfold);
  document.addEventListener('click', e => {
    if (e.target.closest('a[href^="#"]')) setTimeout(unfold);
  });
  unfold();

  document.addEventListener('visibilitychange', refresh);
  setInterval(refresh, every);
})();
