// Pages work without a script; this shows progress and moves the slider.
"use strict";

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function watch(panel) {
  const stage = panel.querySelector("[data-stage]");
  const bar = panel.querySelector("progress");
  const seconds = panel.querySelector("[data-seconds]");
  const best = panel.querySelector("[data-best]");
  const show = (found) => {
    let text = sentence(found.stage);
    if (found.steps) {
      bar.max = found.steps;
      bar.value = found.step;
      text += `, generation ${found.step} of ${found.steps}`;
    } else {
      bar.removeAttribute("value");
    }
    if (stage.textContent !== text) stage.textContent = text;
    seconds.textContent = Math.round(found.seconds);
    if (found.best !== null) best.textContent = `, best fitness ${found.best.toPrecision(4)}`;
  };
  const ask = async () => {
    try {
      const answer = await fetch(panel.dataset.progress, { headers: { accept: "application/json" } });
      const found = answer.ok ? await answer.json() : null;
      if (found === null || found.state !== "running") {
        location.reload();
        return;
      }
      show(found);
    } catch {
      stage.textContent = "The studio does not answer. It may have been closed.";
    }
    setTimeout(ask, 700);
  };
  setTimeout(ask, 300);
}

function walk(form) {
  const slider = form.querySelector("input[type=range]");
  const said = form.querySelector("output");
  const rows = [...form.querySelectorAll("[data-points] tbody tr")];
  const heads = [...form.querySelectorAll("[data-points] thead th")].map((one) => one.textContent.trim());
  const dots = [...form.querySelectorAll("circle")];
  const show = () => {
    const row = rows[slider.value];
    rows.forEach((one) => one.classList.toggle("shown", one === row));
    dots.forEach((one, i) => one.classList.toggle("shown", i === Number(slider.value)));
    said.replaceChildren(
      ...[...row.children].map((cell, i) => {
        const part = document.createElement("span");
        const value = document.createElement("b");
        value.textContent = cell.textContent;
        part.append(value, ` ${heads[i]}`);
        return part;
      }),
    );
    slider.setAttribute("aria-valuetext", `${row.children[0].textContent} times`);
  };
  slider.addEventListener("input", show);
  said.hidden = false;
  show();
}

document.querySelectorAll("[data-progress]").forEach(watch);
document.querySelectorAll("[data-walk]").forEach(walk);
